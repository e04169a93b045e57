#!/usr/bin/env bash
# Prints something if the plugin shall build the folder of an Application: it has a Dynamo resource, or the configuration of krm-fn. Prints nothing
# for a Helm chart. If graph and function are outside the folder, the Application sets the variable KRM_FN.
set -uo pipefail

[ -e Chart.yaml ] && exit
[ -n "${ARGOCD_ENV_KRM_FN:-}" ] && echo claimed && exit
kinds='Dynamo(GraphDeployment(Request|ScalingAdapter)?|ComponentDeployment|Model|Render)'
grep -rlE --include='*.yaml' --include='*.yml' "^kind: *[\"']?$kinds[\"']? *(#.*)?\$" . || true
