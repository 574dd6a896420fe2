/** Returns the fields that have a value. `null` from a client means "not given". */
export function givenFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return givenFieldsOf(fields, fields);
}

/** Returns the fields of a body that have a value and whose names are members of `named`. */
export function givenFieldsOf(
  body: Readonly<Record<string, unknown>>,
  named: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(named)) {
    const value = body[name];
    if (value !== null && value !== undefined) given[name] = value;
  }
  return given;
}
