/// A replacement of bytes of the source.
struct Edit {
    let range: Range<Int>
    let text: String
}
