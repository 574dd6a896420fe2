import { ACCOUNT_ID, AT, type Examples } from "./example.ts";

const TOKEN_ID = "itk_01JGFJJZ00000000000000000K";
const TOKEN = { id: TOKEN_ID, name: "Garage", created_at: AT, last_used_at: null };
const SECRET = `it_${"a1B2".repeat(10)}`;

export const ISLAND_EXAMPLES: Examples = {
  listIslandTokens: { response: { data: [TOKEN] } },
  createIslandToken: { request: { name: "Garage" }, response: { data: TOKEN, token: SECRET } },
  revokeIslandToken: { response: { data: { id: TOKEN_ID, revoked: true } } },
  createPairingCode: {
    request: { name: "Garage" },
    response: { data: { code: "K7WM-3QXA", name: "Garage", expires_at: "2026-01-01T12:10:00.000Z" } },
  },
  pairIsland: {
    request: { code: "K7WM-3QXA" },
    response: { data: { id: TOKEN_ID, name: "Garage", token: SECRET, account_id: ACCOUNT_ID } },
  },
};
