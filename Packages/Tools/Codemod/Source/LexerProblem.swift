/// Why a file can't be read as Swift. The file isn't changed.
struct LexerProblem: Error {
    let offset: Int
    let message: String
}
