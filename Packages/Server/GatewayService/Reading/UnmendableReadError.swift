/// A read that the database refuses, and would refuse again.
struct UnmendableReadError: Error {
    let cause: any Error
}
