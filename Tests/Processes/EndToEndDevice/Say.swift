import Foundation

/// Writes a line to standard output immediately, even to a pipe.
func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((line.replacing("\n", with: " ") + "\n").utf8))
}
