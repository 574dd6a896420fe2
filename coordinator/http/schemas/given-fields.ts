/** Returns the fields that have a value. `null` from a client means "not given". */
export function givenFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Returns the fields of a body that have a value and whose names are members of `named`. */
export function givenFieldsOf(
  body: Readonly<Record<string, unknown>>,
  named: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return givenFields(Object.fromEntries(Object.keys(named).map((name) => [name, body[name]])));
}
