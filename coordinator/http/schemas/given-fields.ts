/** Fields with a value: for clients `null` means "not given". */
export function givenFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Of a body, the fields with a value that have a name of `named`. */
export function givenFieldsOf(
  body: Readonly<Record<string, unknown>>,
  named: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return givenFields(Object.fromEntries(Object.keys(named).map((name) => [name, body[name]])));
}
