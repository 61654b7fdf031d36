@_exported public import TomboloModel
