@_exported public import Tombolo
