# The image of krm-fn: the program, and Python and a few shell tools from BASE.
#   docker build -t krm-fn .
#   docker build -t krm-fn:kustomize --target with-kustomize .
# `make pins` writes the digests of these images beside their tags.
ARG BASE=docker.io/library/python:3.13-slim-bookworm
ARG KUSTOMIZE=registry.k8s.io/kustomize/kustomize:v5.8.2

FROM ${BASE} AS build
ENV PIP_BREAK_SYSTEM_PACKAGES=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
COPY tools/image/requirements.txt .
RUN python3 -m pip install --require-hashes -r requirements.txt
COPY . .
RUN python3 -m pip install --no-deps --no-build-isolation . && sh tools/image/fill.sh /image

FROM scratch AS image
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="dynamo-krm-fn" \
      org.opencontainers.image.description="KRM function: NVIDIA Dynamo graphs become native Kubernetes objects before they reach the cluster" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image /
USER 65534:65534
ENTRYPOINT ["/usr/local/bin/krm-fn"]

FROM ${KUSTOMIZE} AS kustomize

# For Argo CD's plugin server, if folders have a kustomization.yaml.
FROM image AS with-kustomize
COPY --from=kustomize /app/kustomize /usr/local/bin/kustomize

FROM image
