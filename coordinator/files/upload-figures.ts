import { Tally } from "../../shared/tally.ts";

/** What files in parts are measured by. */
export class UploadFigures {
  readonly uploads = new Tally({
    name: "atoll_uploads_total",
    help: "Uploads of files in parts since the coordinator started, by what became of them: started, completed, cancelled, expired",
    labelNames: ["outcome"],
  });
  readonly parts = new Tally({
    name: "atoll_upload_parts_total",
    help: "Parts that arrived since the coordinator started: new, or repeated with a content that was there",
    labelNames: ["kind"],
  });
  readonly bytes = new Tally({
    name: "atoll_upload_bytes_total",
    help: "Bytes of new parts since the coordinator started",
    labelNames: [],
  });

  constructor() {
    for (const outcome of ["started", "completed", "cancelled", "expired"]) this.uploads.add([outcome], 0);
  }
}
