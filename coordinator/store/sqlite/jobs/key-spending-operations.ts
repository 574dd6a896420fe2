import type Database from "better-sqlite3";
import { KeyCreditsError } from "../../../credits/credit-errors.ts";
import { monthBeginMs, type SubmittingKey, type UtcMonth } from "../../accounts/key-spending.ts";

/** Counts the cost of jobs by key. A key without a monthly limit costs no write. */
export function prepareKeySpending(db: Database.Database) {
  const select = db
    .prepare<[number, UtcMonth], number>("SELECT micro FROM key_spending WHERE key_number = ? AND month >= ?")
    .pluck();
  // A process whose clock is behind counts in the newer month.
  const add = db
    .prepare<{ number: number; month: UtcMonth; neededMicro: number }, UtcMonth>(
      `INSERT INTO key_spending (key_number, month, micro) VALUES (@number, @month, @neededMicro)
       ON CONFLICT DO UPDATE SET micro = CASE WHEN month >= excluded.month THEN micro ELSE 0 END + excluded.micro,
         month = max(month, excluded.month)
       RETURNING month`,
    )
    .pluck();
  const refund = db.prepare<[number, number, UtcMonth]>(
    "UPDATE key_spending SET micro = max(0, micro - ?) WHERE key_number = ? AND month = ?",
  );
  return {
    /** @throws {KeyCreditsError} if the jobs would exceed the limit; nothing is written. */
    assertAllows(key: SubmittingKey | null | undefined): void {
      const { number, monthly } = key ?? { number: 0, monthly: null };
      if (monthly === null || monthly.neededMicro === 0) return;
      const { limitMicro, month, neededMicro } = monthly;
      const leftMicro = Math.max(0, limitMicro - (select.get(number, month) ?? 0));
      if (neededMicro > leftMicro) throw new KeyCreditsError(neededMicro, leftMicro, monthBeginMs(month + 1));
    },
    /** Returns the month that counts the jobs; null without a monthly limit. */
    add(key: SubmittingKey | null | undefined): UtcMonth | null {
      if (!key?.monthly) return null;
      const { month, neededMicro } = key.monthly;
      return add.get({ number: key.number, month, neededMicro }) ?? month;
    },
    refund(keyNumber: number, month: UtcMonth, micro: number): void {
      if (micro > 0) refund.run(micro, keyNumber, month);
    },
  };
}
