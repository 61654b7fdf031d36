// Realm's own module brings Foundation along, so models use Date, Data and UUID with this import alone.
@_exported public import Foundation
@_exported public import Tombolo
