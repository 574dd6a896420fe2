import type { Posting } from "../../../credits/postings.ts";
import type { Ledger } from "./ledger.ts";

export interface LedgerOperations {
  post(args: { postings: readonly Posting[]; atMs: number }): void;
}

export function ledgerOperations(ledger: Ledger): LedgerOperations {
  return {
    post({ postings, atMs }) {
      ledger.assertAccepts(postings);
      ledger.post(postings, null, atMs);
    },
  };
}
