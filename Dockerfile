# syntax=docker/dockerfile:1

# Both stages are Debian 13, so the binary runs with the glibc it was linked against.
FROM rust:1.95-slim-trixie AS build
WORKDIR /src
COPY . .
# `target` is a cache mount, not a layer: the binary is copied out of it.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/src/target,sharing=locked \
    cargo build --release --locked --bin n8n-lens \
    && cp target/release/n8n-lens /usr/local/bin/n8n-lens

# Contains glibc, libgcc_s and CA certificates, but no shell.
FROM gcr.io/distroless/cc-debian13:nonroot
ARG VERSION=0.1.0
LABEL io.modelcontextprotocol.server.name="io.github.n8n-lens/n8n-lens" \
      org.opencontainers.image.title="n8n-lens" \
      org.opencontainers.image.description="Debug n8n executions of any size and edit workflows, always within a token budget." \
      org.opencontainers.image.source="https://github.com/n8n-lens/n8n-lens" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=build /usr/local/bin/n8n-lens /usr/local/bin/n8n-lens
# Numeric, so that Kubernetes can verify `runAsNonRoot`.
USER 65532:65532
ENTRYPOINT ["n8n-lens"]
