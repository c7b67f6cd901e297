/* Is no C, so that the compiler prints an error. */
void conv(
