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
  getNetwork: {
    response: {
      data: {
        islands_online: 12,
        cargos: [{ slug: "tiny-chat", islands: 9, ready: 3, free: 5 }],
        registration: "open",
        new_account_credits: 10,
        is_complete: true,
      },
    },
  },
  listDownloads: { response: { data: { public_url: "https://atoll.example", files: [DOWNLOAD] } } },
};
