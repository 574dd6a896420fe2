export class StandInAccounts {
  readonly #keys = new Map<string, unknown>();
  add(accountId: string, scopes: string[]): string {
    const secret = `ak_${this.#keys.size}`;
    this.#keys.set(secret, { kind: "key", accountId, scopes });
    return secret;
  }
  async authenticate(token: string): Promise<unknown> {
    return this.#keys.get(token);
  }
}
