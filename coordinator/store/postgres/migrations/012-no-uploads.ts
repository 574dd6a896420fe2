/** Uploads in parts were retired. Their parts on disk go with the first sweep of files. Frozen once released. */
export const noUploads = `
DROP TABLE upload_parts;
DROP TABLE uploads;
`;
