/* Is no C, so that a compiler has something to say. */
void conv(
