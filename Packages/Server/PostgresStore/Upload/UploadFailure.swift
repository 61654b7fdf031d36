internal import PostgresClient
internal import TomboloModel

/// A write that PostgreSQL did not take, and the object that it was about, where one is known.
struct UploadFailure: Error {
    let cause: PostgresError
    let reference: ObjectReference?
}
