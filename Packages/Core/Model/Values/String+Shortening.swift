extension String {
    /// The text, or as much of its beginning as fits in `limit` bytes of UTF-8, followed by `…`.
    ///
    /// Everything that quotes input goes through here. A bound in characters bounds nothing, for one `Character` may
    /// consist of any number of code points: an `e` with a million accents is one.
    package func shortened(toByteCount limit: Int) -> String {
        guard utf8.count > limit else { return self }
        return String(prefix(byteCount: limit)) + "…"
    }

    /// As much of the beginning as fits in `limit` bytes of UTF-8, cut between two code points.
    package func prefix(byteCount limit: Int) -> Substring {
        guard utf8.count > limit else { return self[...] }
        var end = utf8.index(startIndex, offsetBy: limit)
        while utf8[end] & 0xc0 == 0x80 { end = utf8.index(before: end) }
        return self[..<end]
    }
}
