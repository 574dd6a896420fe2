#!/usr/bin/env bash
# Runs the part of `npm run test:all` after `npm test`. These are the lanes that need weights, rounds or Debian packages, third-party
# clients, and tests that depend on the transport, the store or the number of coordinators, with other values of these.
set -euo pipefail
cd "$(dirname "$0")/.."
# Coding agents and libraries from npm, and the official Python client from PyPI. They are skipped if these registries are unreachable.
# They run beside the lanes, because they mostly wait. opencode needs seconds of CPU for each start, so it runs with one of its APIs.
npm run --silent test:clients -- claude-code codex ai-sdk-anthropic openai-agents langchain-anthropic mastra python &
clients=$!
npm run --silent test:clients -- opencode --title "opencode · chat" &
opencode=$!
trap 'kill "$clients" "$opencode" 2>/dev/null || true' EXIT
npm run test:run -- --project model --project soak --project system
wait "$clients"
wait "$opencode"
# Parts of the API that depend on the transport, on uWebSockets.js.
node test/support/uws/install.ts
ATOLL_TEST_TRANSPORT=uws npm run test:run -- test/coordinator/http/{server,streaming,limits,middleware,multipart} \
  test/coordinator/http/routes/{chat,downloads,job} test/coordinator/dialects/files test/coordinator/islands
# The API and whole networks on PostgreSQL with three coordinators, which get the requests in turn. This excludes tests of command lines,
# of files of one program, of formats and runtimes, of most endpoints that run one job, and of faults, which chaos repeats with three
# coordinators below.
ATOLL_TEST_STORE=postgres ATOLL_TEST_COORDINATORS=3 npm run test:run -- test/coordinator/{http,dialects} test/e2e \
  --exclude 'test/coordinator/http/{openai,openapi}/*' \
  --exclude 'test/coordinator/http/{openai-errors,vendor-base}.*' \
  --exclude 'test/coordinator/http/routes/{docs-page,downloads,model-files}.*' \
  --exclude 'test/coordinator/dialects/{completions,embeddings,images,moderations,rerank}.*' \
  --exclude 'test/coordinator/dialects/{audio,batches}/*' \
  --exclude 'test/e2e/{added-*,bad-models,demo*,early-stop,engine*,faults,images,island-models,killed-probe,package,runtimes,signed-cargos,telemetry}.*' \
  --exclude 'test/e2e/commands/{cli,init,island-*,log-format}.*'
# A network of real processes under all kinds of faults. To repeat a failed seed: npm run chaos -- --seed N
# It runs beside the next one, because both mostly wait.
npm run --silent chaos -- --seed 1 --minutes 0.5 &
chaos=$!
trap 'kill "$chaos" 2>/dev/null || true' EXIT
# Three coordinators on PostgreSQL, one of which is killed every 10 s.
npm run --silent chaos -- --coordinators 3 --seed 3 --minutes 0.5
wait "$chaos"
