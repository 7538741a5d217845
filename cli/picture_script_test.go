package cli_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// drawPicture implements the script command picture.
func drawPicture(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: picture FILE WIDTH HEIGHT")
	}
	width, err := strconv.Atoi(args[1])
	ts.Check(err)
	height, err := strconv.Atoi(args[2])
	ts.Check(err)
	var content bytes.Buffer
	ts.Check(png.Encode(&content, image.NewGray(image.Rect(0, 0, width, height))))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content.Bytes(), 0o600))
}
