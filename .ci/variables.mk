# What may be set on make's command line, by target: LAYER=conv1 instead of LAYERS= would run every layer and replace old results.
# Facts (.ci/facts) are KIND/OF WHAT/WORD; `fact` takes a kind and of what. Where a question's record has changed, make builds
# bench first and asks bench, unless no goal needs the question.
renew := $(if $(VARIABLES_ARE_KNOWN),,$(if $(filter-out clean deps format format-check plugin readmes,$(foreach g,$(or $(MAKECMDGOALS),all),$(if $(findstring /,$g),,$g))),--renew))
known_facts := $(shell BUILD="$(plain_build)" .ci/facts $(renew) | awk -F'\t' '$$1 ~ /^(question|variable|handed|does|target)$$/ { print $$1 "/" $$2 "/" $$3 } \
    $$1 == "knows" { n = split($$3, owner, " "); for (i = 1; i <= n; i++) print $$1 "/" $$2 "/" owner[i] }')
fact = $(patsubst $1/$2/%,%,$(filter $1/$2/%,$(known_facts)))
does = $(patsubst $2:%,%,$(filter $2 $2:%,$(call fact,does,$1)))
question_targets := $(foreach w,$(filter question/%,$(known_facts)),$(word 2,$(subst /, ,$w)))
question_of = $(call fact,question,$1)
.PHONY: FORCE $(foreach w,$(filter target/%,$(known_facts)),$(word 2,$(subst /, ,$w)))

# What is handed to a program on its command line; libraries read the rest from the environment.
passed_variables = $(foreach p,$(filter-out blas dnnl,$(call fact,knows,$1)),$(call fact,variable,$p))

quoted = '$(subst ','\'',$1)'
# An inner make gets the command line of its outer make, for other targets.
ifndef VARIABLES_ARE_KNOWN
export VARIABLES_ARE_KNOWN := 1
given := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v))
all_variables := $(sort $(foreach w,$(filter variable/%,$(known_facts)),$(word 3,$(subst /, ,$w))))
wrong := $(shell BUILD="$(plain_build)" BENCH="$(BUILD)/bench" .ci/goals $(call quoted,$(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))) $(call quoted,$(given)) $(foreach v,$(all_variables),$(if $($v),$(call quoted,$v=$($v)))))
$(if $(wrong),$(error $(wrong)))
endif
