package wording_test

import (
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/wording"
)

func TestPictureOfAMessageIsDescribedByItsSize(t *testing.T) {
	m := prompt.Mention{Name: "shot.png", Bytes: 2048, Picture: &prompt.Picture{Attachment: plan.Attachment{Bytes: 2048}, Width: 640, Height: 480}}
	for separator, want := range map[string]string{"·": "shot.png · 640×480, 2 KB", ",": "shot.png , 640x480, 2 KB", "-": "shot.png - 640x480, 2 KB"} {
		if got := wording.MentionWords(m, separator); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
