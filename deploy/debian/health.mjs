// Checks whether the coordinator of this machine or container serves: exit code 0 or 1. Run by the image's health check.
const url = `http://127.0.0.1:${process.env["ATOLL_PORT"] ?? 8080}/api/v1/health`;
const isServing = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
  (answer) => answer.ok,
  () => false,
);
process.exit(isServing ? 0 : 1);
