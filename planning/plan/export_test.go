package plan

// ReadValue reads a text as DecodePlan does.
func ReadValue(text []byte) (v any, err error) {
	v, _, err = readValue(text)
	return v, err
}
