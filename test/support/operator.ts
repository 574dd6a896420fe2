import { hashSecret, newSecret } from "../../coordinator/accounts/secrets.ts";
import type { TestCoordinator } from "./network/test-coordinator.ts";

/** Creates an account, optionally an operator's, and returns its session token. */
export async function signIn(
  coordinator: TestCoordinator,
  email: string,
  { isOperator = false }: { isOperator?: boolean } = {},
): Promise<string> {
  const { id } = await coordinator.createAccount(email);
  const token = newSecret("st");
  const nowMs = Date.now();
  const session = [hashSecret(token), id, nowMs, nowMs + 3_600_000];
  coordinator.runSql(
    "INSERT INTO sessions (token_hash, account_id, created_at_ms, expires_at_ms) VALUES (?, ?, ?, ?)",
    ...session,
  );
  if (isOperator) coordinator.runSql("UPDATE accounts SET role = 'operator' WHERE id = ?", id);
  return token;
}
