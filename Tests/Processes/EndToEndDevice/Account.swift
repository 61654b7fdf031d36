import EventModels

/// The model class, which has the same name as Tombolo's logged-in user.
typealias Account = User
