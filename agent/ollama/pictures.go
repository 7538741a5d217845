package ollama

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"replan/internal/english"
	"replan/internal/picture"
	"replan/planning/plan"
	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

// longestSide bounds the pictures sent to a model, in pixels. Vision models scale
// larger ones down themselves, after they have counted their tokens.
const longestSide = 1344

// errChanged reports that a file is not what the tool sent.
var errChanged = errors.New("it is not the picture that was kept")

// pictures returns the pictures of a message as the model gets them, and a note in
// brackets about those that it does not see.
func (x *exchange) pictures(m prompt.Message) (images []api.ImageData, note string) {
	if len(m.Images) == 0 {
		return nil, ""
	}
	if !x.info.Vision {
		return nil, fmt.Sprintf("\n[You cannot see %s: this model reads no pictures.]", english.Agree(len(m.Images), "it", "them"))
	}
	var unseen []string
	for i, a := range m.Images {
		content, err := readPicture(a)
		if err != nil {
			x.client.log.Warn("a picture cannot be shown to the model", "file", a.File, "error", err)
			unseen = append(unseen, fmt.Sprintf("%d: %v", i+1, err))
			continue
		}
		images = append(images, content)
	}
	if len(unseen) > 0 {
		note = "\n[Not shown: picture " + strings.Join(unseen, "; picture ") + "]"
	}
	return images, note
}

// readPicture reads a kept picture, made smaller if need be. The file must be the
// one that was kept: a journal could name any.
func readPicture(a plan.Attachment) ([]byte, error) {
	file, err := os.Open(a.File)
	if err != nil {
		return nil, errors.New("its file cannot be read")
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, picture.MaxBytes+1))
	if err != nil {
		return nil, errors.New("its file cannot be read")
	}
	if len(content) > picture.MaxBytes {
		return nil, picture.ErrTooLarge
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != a.SHA256 {
		return nil, errChanged
	}
	return picture.ForModel(content, longestSide)
}
