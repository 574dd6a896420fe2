#!/usr/bin/env bash
# What `npm run test:all` runs after `npm test`: the lanes that need weights, rounds or Debian packages, the clients of others, and
# what depends on the transport, the store or the number of coordinators once more on the other ones.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run test:run -- --project model --project soak --project system
# Coding agents and libraries from npm, and the official Python client from PyPI; skipped where these cannot be reached.
npm run --silent test:clients -- claude-code codex opencode ai-sdk-anthropic openai-agents langchain-anthropic mastra python
# The parts of the API that a transport may change, on uWebSockets.js.
node test/support/uws/install.ts
ATOLL_TEST_TRANSPORT=uws npm run test:run -- test/coordinator/http/{server,streaming,limits,middleware,multipart} \
  test/coordinator/http/routes/{chat,downloads,job} test/coordinator/dialects/files test/coordinator/islands
# The API and whole networks on PostgreSQL, with three coordinators between which requests take turns. Not what is about command lines
# and files of one program, and of the endpoints that run one job those of chats and jobs.
ATOLL_TEST_STORE=postgres ATOLL_TEST_COORDINATORS=3 npm run test:run -- test/coordinator/{http,dialects} test/e2e \
  --exclude 'test/coordinator/http/openai/*' \
  --exclude 'test/coordinator/http/routes/{docs-page,downloads,model-files}.*' \
  --exclude 'test/coordinator/dialects/{completions,embeddings,images,moderations,rerank}.*' \
  --exclude 'test/coordinator/dialects/{audio,batches}/*' \
  --exclude 'test/e2e/{bad-models,demo*,early-stop,island-models,package}.*' \
  --exclude 'test/e2e/commands/{cli,init,island-*,log-format}.*'
# A network of real processes under faults of every kind. A seed that failed can be run again: npm run chaos -- --seed N
npm run --silent chaos -- --seed 1 --minutes 0.5
# Three coordinators on PostgreSQL, of which one is killed every 10 s.
npm run --silent chaos -- --coordinators 3 --seed 3 --minutes 0.5
