package ollama

import (
	"fmt"
	"strconv"
	"strings"

	"replan/internal/english"
	"replan/internal/picture"
	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

// longestSide bounds the pictures sent to a model, in pixels. Vision models scale
// larger ones down themselves, after they have counted their tokens.
const longestSide = 1344

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
		content, err := picture.Read(a.File, a.SHA256)
		if err == nil {
			content, err = picture.ForModel(content, longestSide)
		}
		if err != nil {
			x.client.logger().Warn("a picture cannot be shown to the model", "file", a.File, "error", err)
			unseen = append(unseen, strconv.Itoa(i+1))
			continue
		}
		images = append(images, content)
	}
	if len(unseen) > 0 {
		note = "\n[These pictures cannot be read, and you do not see them: " + strings.Join(unseen, ", ") + ".]"
	}
	return images, note
}
