/**
 * Answers a repeated request with what its first one made, whatever has changed since; else makes it.
 * @param find What the first request with the same Idempotency-Key made; undefined for a new one or one without a key.
 * @param make Checks the request against what is so now, and writes only if `find` would find nothing.
 */
export async function firstOfKey<T>(find: () => Promise<T | undefined>, make: () => Promise<T>): Promise<T> {
  const first = await find();
  if (first !== undefined) return first;
  try {
    return await make();
  } catch (error) {
    // Its first was under way when we looked, and may have taken what this one was refused for.
    const made = await find();
    if (made !== undefined) return made;
    throw error;
  }
}
