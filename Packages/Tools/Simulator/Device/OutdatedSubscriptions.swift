/// A subscription set was made from one that's no longer wanted.
struct OutdatedSubscriptions: Error {
    let version: Int64
    let wanted: Int64
}
