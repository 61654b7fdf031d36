// Realm's own module re-exports Foundation, so models can use Date, Data and UUID with this import alone.
@_exported public import Foundation
@_exported public import Tombolo
