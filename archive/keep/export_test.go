package keep

// SendInParts sends files in parts of a size if they are larger than that.
func (u *Uploader) SendInParts(size int64) { u.largest = size }

// Lock locks finished files.
var Lock = lock
