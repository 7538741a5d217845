// Package untrusted makes text from outside safe to draw: tool output, tool
// descriptions, project files and model output. A field of type [Text] holds such
// text; printing it or calling its methods returns it clean. The functions do
// the same for text that has no field, such as a line of a file.
//
// It imports nothing of replan. Start reading at [Text], then at [Visible].
package untrusted
