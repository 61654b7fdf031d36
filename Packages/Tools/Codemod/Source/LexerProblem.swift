/// Why a file cannot be read as Swift. The file is left as it is.
struct LexerProblem: Error {
    let offset: Int
    let message: String
}
