import type { Examples } from "./example.ts";

const DOWNLOAD = {
  name: "atoll-island-0.1.0.tgz",
  path: "/download/atoll-island-0.1.0.tgz",
  package: "island",
  format: "npm",
  version: "0.1.0",
  size_bytes: 115_794_626,
  sha256: "0f1e".repeat(16),
};

export const NETWORK_EXAMPLES: Examples = {
  listDownloads: { response: { data: { public_url: "https://atoll.example", files: [DOWNLOAD] } } },
};
