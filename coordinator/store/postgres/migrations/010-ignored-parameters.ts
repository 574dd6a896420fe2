/** Hints of a request that its job does without, as a JSON list; null for none. Frozen once released. */
export const ignoredParameters = `
ALTER TABLE jobs ADD COLUMN ignored_parameters text;
`;
