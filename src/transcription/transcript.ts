export interface Segment {
  /** Seconds from the start of the file. */
  start: number;
  end: number;
  text: string;
}

export interface Transcript {
  text: string;
  segments: Segment[];
  language: string;
  /** How long the sound is, speech or not. */
  seconds: number;
  model: string;
}
