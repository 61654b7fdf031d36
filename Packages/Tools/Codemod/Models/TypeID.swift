/// A type declaration of the input.
struct TypeID: Hashable {
    let file: Int
    let type: Int
}
