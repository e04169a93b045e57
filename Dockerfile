# The image of krm-fn: the program, and Python and a few shell tools from BASE.
#   docker build -t krm-fn .
#   docker build -t krm-fn:kustomize --target with-kustomize .
#   docker build -t krm-fn:sync --target sync .
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

# The packages of `krm-fn sync` are in its image only.
FROM build AS build-sync
RUN python3 -m pip install --require-hashes -r tools/image/requirements-sync.txt && sh tools/image/fill.sh /image-sync --sync

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

# For `krm-fn sync` in a cluster: platform/syncer.
FROM scratch AS sync
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="dynamo-krm-fn-sync" \
      org.opencontainers.image.description="Status syncer: writes the status of NVIDIA Dynamo graphs from their workloads" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build-sync /image-sync /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/krm-fn"]
CMD ["sync"]

FROM ${KUSTOMIZE} AS kustomize

# For Argo CD's plugin server, if folders have a kustomization.yaml.
FROM image AS with-kustomize
COPY --from=kustomize /app/kustomize /usr/local/bin/kustomize

FROM image
