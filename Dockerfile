# leadsheet as a container, for amd64 and arm64 alike: `docker buildx build --platform linux/amd64,linux/arm64 .`
# A tag can move. Who wants the very same image tomorrow puts the digest behind both: node:24.21.0-slim@sha256:...
# (`docker buildx imagetools inspect node:24.21.0-slim` prints it). Podman keeps the health check with --format docker.

# JavaScript of the sources, the same for every architecture.
FROM --platform=$BUILDPLATFORM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY build/ build/
COPY src/ src/
RUN npm run build

# What it needs at run time, with the binaries of this architecture: they come in packages, and nothing is compiled.
FROM node:24.21.0-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-slim
LABEL org.opencontainers.image.title="leadsheet" \
      org.opencontainers.image.description="Keeps a local, queryable copy of a lead pipeline service and mails people a report that they read." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"

# Nothing that could install anything; `leadsheet` for `docker exec`; and the folder that a new volume takes its owner from,
# which the group may enter to read the snapshot.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* \
    && ln -s /app/bin/leadsheet.js /usr/local/bin/leadsheet \
    && install -d -m 0710 -o 10001 -g 10001 /data

# All of it belongs to root, and is never written.
COPY --from=dependencies /app/node_modules/ /app/node_modules/
COPY --from=build /app/dist/ /app/dist/
COPY bin/ /app/bin/
COPY package.json LICENSE CHANGELOG.md leadsheet.example.yaml /app/
COPY templates/ /app/templates/
COPY profiles/ /app/profiles/
COPY docs/queries/ /app/docs/queries/
COPY data/companies.ndjson data/companies.LICENSE.txt /app/data/

# In here 127.0.0.1 is this container alone. At other addresses the dashboard asks for LEADSHEET_WEB_TOKEN_FILE, and is
# not served without it. NODE_COMPILE_CACHE would be a second place to write to, and saves a tenth of a second a start.
ENV NODE_ENV=production \
    TZ=UTC \
    LEADSHEET_DATA_DIR=/data \
    LEADSHEET_WEB_LISTEN=0.0.0.0:8080
# A leadsheet.yaml in the volume is found, and what commands write without a path goes there.
WORKDIR /data
VOLUME /data
EXPOSE 8080
USER 10001:10001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=60s --timeout=20s --start-period=60s --retries=3 CMD ["node", "/app/dist/main.js", "health"]
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["run"]
