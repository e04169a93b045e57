#!/usr/bin/env bash
# Says something where the folder of an Application is ours: it has a Dynamo resource, or the configuration of krm-fn. Helm charts are Helm's.
# An overlay whose graph and function both lie elsewhere is claimed by the variable KRM_FN in its Application.
set -uo pipefail

[ -e Chart.yaml ] && exit
[ -n "${ARGOCD_ENV_KRM_FN:-}" ] && echo claimed && exit
kinds='Dynamo(GraphDeployment(Request|ScalingAdapter)?|ComponentDeployment|Model|Render)'
grep -rlE --include='*.yaml' --include='*.yml' "^kind: *[\"']?$kinds[\"']? *(#.*)?\$" . || true
