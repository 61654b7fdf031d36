internal import PostgresClient
internal import TomboloModel

/// A write that PostgreSQL rejected, with the object and the position of the instruction that it comes from, as far
/// as they're known.
struct UploadFailure: Error {
    let cause: PostgresError
    let reference: ObjectReference?
    let instruction: Int?
}
