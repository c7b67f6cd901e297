# question What becomes of packing and of SConv when the micro-kernel gets faster?
# caption Predicted from the recorded machines' costs, multiply-adds scaled; dashed: SConv
# draws rates.csv: base_packing_percent sconv_packing_percent speedup
load figures."/style.gp"
table = rates_csv; groups = "zen3 spr"; column_of_group = "machine"; group_title(k) = word(groups, k); group_colour(k) = word(vermilion." ".blue, k)
title_text = "A faster micro-kernel, nothing else: predicted from the recorded machines' costs, all layers, cold"
load figures."/study_common.gp"
