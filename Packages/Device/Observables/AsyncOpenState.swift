public import Foundation
public import Tombolo

/// How far the opening of a synced Realm is.
public enum AsyncOpenState {
    /// Nobody is logged in.
    case waitingForUser
    /// The download hasn't begun.
    case connecting
    /// The download goes on.
    case progress(Progress)
    /// The Realm is open, on the main thread.
    case open(Realm)
    /// The Realm couldn't be opened: the error of ``Tombolo/Realm/asyncOpen(configuration:callbackQueue:callback:)``,
    /// `POSIXError` with the code `ETIMEDOUT` or `ECANCELED`.
    case error(any Error)
}
