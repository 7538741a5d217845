package journal

import (
	"bytes"
	"fmt"

	"replan/agent/store/values"
	"replan/planning/plan"
)

// extensions are the endings of files by their media type. A server chooses the
// type, so no ending is one that a system would run or a browser would open.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp", "image/tiff": ".tiff",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/wave": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac", "audio/mp4": ".m4a",
	"video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "application/x-gzip": ".gz", "text/plain": ".txt", "text/csv": ".csv",
}

// SaveAttachment stores content of a result that is no text in the folder of large values,
// as <sha256> with an ending for its media type. It returns once the content is on disk.
// Equal content of one type shares a file. SaveAttachment is safe for concurrent use, also with
// Append.
func (j *Journal) SaveAttachment(content []byte, mediaType string) (plan.Attachment, error) {
	sum, _ := values.Hash(bytes.NewReader(content))
	extension := extensions[mediaType]
	if extension == "" {
		extension = ".bin"
	}
	path, err := j.values.attach(sum+extension, bytes.NewReader(content))
	if err != nil {
		return plan.Attachment{}, fmt.Errorf("the journal: %w", err)
	}
	return plan.Attachment{File: path, Type: mediaType, Bytes: len(content), SHA256: sum}, nil
}
