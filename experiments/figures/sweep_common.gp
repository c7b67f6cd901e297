# What the figures of `make sweep` share: the models' names. Variables: those of style.gp, what (one line of provenance), machine, and configs.csv.
load figures."/style.gp"
file = configs_csv

# Names the models, as far as there is room: sets model_text.
find_models = 'models = ""; stats file using (index_in(models, stringcolumn("model")) ? 0 : (models = models." ".stringcolumn("model"), 0), 0) nooutput; \
model_text = ""; do for [m = 1:(words(models) > 3 ? 3 : words(models))] { model_text = model_text.(m > 1 ? ", " : "").word(models, m) }; \
if (words(models) > 3) { model_text = model_text.sprintf(" and %d more models", words(models) - 3) }'
