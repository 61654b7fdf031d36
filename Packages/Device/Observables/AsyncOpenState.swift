public import Foundation
public import Tombolo

/// The state of opening a synced Realm.
public enum AsyncOpenState {
    /// Nobody is logged in.
    case waitingForUser
    /// The download hasn't begun.
    case connecting
    /// The download is in progress.
    case progress(Progress)
    /// The Realm is open on the main thread.
    case open(Realm)
    /// The Realm couldn't be opened. The error is that of
    /// ``Tombolo/Realm/asyncOpen(configuration:callbackQueue:callback:)``, or a `POSIXError` with the code `ETIMEDOUT`
    /// or `ECANCELED`.
    case error(any Error)
}
