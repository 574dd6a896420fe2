import { randomInt } from "node:crypto";

/**
 * Letters and digits that nobody takes for one another: no 0, 1, I and O. 32 of them, so a code is one of 32^8 = 2^40.
 *
 * Odds of guessing: each coordinator takes {@link MAX_TRIES} tries a minute in all, 158 million in a year. With 10 codes open at all
 * times, an attacker who uses up all tries for a whole year finds one with a chance of 0.14 % (10 * 158e6 / 2^40), at the price that
 * nobody else can pair. What he gets is an Island token, whose Island earns for the account.
 */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const LENGTH = 8;
const PATTERN = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

export const PAIRING_MS = 600_000;
/** Open codes of one account. */
export const MAX_CODES = 5;
/** Codes that are tried in a minute: by one address, and by all. */
export const MAX_TRIES_BY_ADDRESS = 10;
export const MAX_TRIES = 300;

/** A new code in the form in which it is shown: ABCD-EFGH. */
export function newPairingCode(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return `${characters.slice(0, LENGTH / 2)}-${characters.slice(LENGTH / 2)}`;
}

/** The eight characters of a code as somebody typed it; undefined for what cannot be one. */
export function readPairingCode(typed: string): string | undefined {
  const code = typed.replaceAll(/[\s-]/g, "").toUpperCase();
  return PATTERN.test(code) ? code : undefined;
}
