package keep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/minio/minio-go/v7"
)

// putParts sends a file in parts: servers take at most 5 GiB in one request. The SHA-256 of each part is signed,
// so the server refuses a part that differs. If a part fails, the parts before it are removed there.
func (u *Uploader) putParts(
	ctx context.Context, key string, f io.ReaderAt, size int64, o minio.PutObjectOptions,
) (err error) {
	bucket := u.Bucket.Bucket
	id, err := u.server.NewMultipartUpload(ctx, bucket, key, o)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, u.server.AbortMultipartUpload(context.WithoutCancel(ctx), bucket, key, id))
		}
	}()
	length := max(cmp.Or(u.largest, partSize), (size+maxParts-1)/maxParts)
	var parts []minio.CompletePart
	for pos := int64(0); pos < size; pos += length {
		part := io.NewSectionReader(f, pos, min(length, size-pos))
		sum := sha256.New()
		if err := transfer(ctx, sum, part); err != nil {
			return err
		}
		if _, err := part.Seek(0, io.SeekStart); err != nil {
			return err
		}
		sent, err := u.server.PutObjectPart(ctx, bucket, key, id, len(parts)+1, part, part.Size(),
			minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(sum.Sum(nil)), DisableContentSha256: true})
		if err != nil {
			return err
		}
		parts = append(parts, minio.CompletePart{PartNumber: sent.PartNumber, ETag: sent.ETag})
	}
	_, err = u.server.CompleteMultipartUpload(ctx, bucket, key, id, parts, o)
	return err
}
